file: corefiles/hang.core.zst
dumphttp
