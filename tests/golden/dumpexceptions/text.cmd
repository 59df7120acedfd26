file: corefiles/leak.core.zst
dumpexceptions
