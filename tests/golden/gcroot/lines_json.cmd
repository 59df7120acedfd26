file: --no-files corefiles/hang.core.zst
gcroot 7fb0d9808fc8 --json --symbols corefiles/symbols
