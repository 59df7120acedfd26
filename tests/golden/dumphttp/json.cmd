file: corefiles/hang.core.zst
dumphttp -active --json
