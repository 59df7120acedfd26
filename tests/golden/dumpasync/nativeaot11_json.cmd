file: --no-files corefiles/nativeaot11.core.zst
dumpasync --json
