file: --no-files --symbols corefiles/symbols corefiles/nativeaot10_symbols.core.zst
clrstack -thread 2 -a
