file: --no-files corefiles/hang.core.zst
clrstack -limit 12 --symbols corefiles/symbols
