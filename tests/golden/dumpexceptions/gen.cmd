file: corefiles/leak.core.zst
dumpexceptions -gen 2 -type stackover
