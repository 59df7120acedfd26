file: --no-files corefiles/hang.core.zst
roots -kind stack -thread 4 --json --symbols corefiles/symbols
