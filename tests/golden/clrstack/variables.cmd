file: --no-files --symbols corefiles/symbols corefiles/hang.core.zst
clrstack -thread 4 -a
