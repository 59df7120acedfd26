file: --no-files corefiles/nativeaot10.core.zst
dumpmt 5593943c99c0
