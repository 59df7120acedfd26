file: --no-files corefiles/nativeaot8.core.zst
dumpasync -fields
