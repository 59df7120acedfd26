file: --no-files corefiles/leak.core.zst
registers -thread 1
