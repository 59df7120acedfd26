file: --no-files corefiles/hang.core.zst
clrstack -thread 4 --json --symbols corefiles/symbols
