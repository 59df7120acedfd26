file: --no-files --symbols corefiles/symbols corefiles/nativeaot10_symbols.core.zst
sql "SELECT name, field_type, value, meaning FROM fields WHERE object = 0x7fe6d5803c80"
