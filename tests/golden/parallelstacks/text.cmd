file: --no-files corefiles/hang.core.zst
parallelstacks --symbols corefiles/symbols
