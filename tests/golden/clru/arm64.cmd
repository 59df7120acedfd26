file: --no-files corefiles/arm64-11.core.zst
clru ffff66e6b9b8
