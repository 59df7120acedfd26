file: --no-files corefiles/hang.core.zst
clrstack -thread 4 --symbols corefiles/symbols -n
