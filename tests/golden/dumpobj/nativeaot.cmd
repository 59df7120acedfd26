file: --no-files corefiles/nativeaot10.core.zst
dumpobj 7f1e07c08190
