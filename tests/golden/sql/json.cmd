file: corefiles/leak.core.zst
sql --json "SELECT name, value, meaning, reference FROM fields WHERE object = 0x7f039d000090"
