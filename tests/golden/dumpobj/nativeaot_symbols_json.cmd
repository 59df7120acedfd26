file: --no-files --symbols corefiles/symbols corefiles/nativeaot10_symbols.core.zst
dumpobj --json 7fe6d5803c80
