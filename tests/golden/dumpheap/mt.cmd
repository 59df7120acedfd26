file: corefiles/bubblecs.heap
dumpheap -mt 1d
