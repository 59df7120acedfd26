file: --no-files --symbols corefiles/symbols corefiles/nativeaot10_symbols.core.zst
roots -kind static -container Shapes
