file: --no-files corefiles/hang.core.zst
parallelstacks --json --symbols corefiles/symbols
