file: --no-files --symbols corefiles/symbols corefiles/nativeaot10_symbols.core.zst
gcroot 7fe6d5803ee0
