file: --no-files corefiles/hang.core.zst
clrstack -thread 4 -p
