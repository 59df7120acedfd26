file: --no-files --symbols corefiles/symbols corefiles/hang11.core.zst
clrstack -a -thread 4
