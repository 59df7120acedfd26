file: corefiles/leak.core.zst
dumpexceptions -dead
