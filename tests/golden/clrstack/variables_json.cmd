file: --no-files --symbols corefiles/symbols corefiles/hang.core.zst
clrstack -thread 4 -limit 3 -p -l --json
