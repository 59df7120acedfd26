file: --no-files corefiles/hang.core.zst
clrstack -thread 4 --width 100 --symbols corefiles/symbols
