file: corefiles/bubblecs.heap
dumpheap -min 2048 -max 0x1810
