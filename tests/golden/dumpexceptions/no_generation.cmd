file: corefiles/leak.core.zst
exit: 2
dumpexceptions -gen 7
