file: corefiles/bubblecs.heap
dumpheap -stat
