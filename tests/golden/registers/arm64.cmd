file: --no-files corefiles/arm64-11.core.zst
registers -thread 4
