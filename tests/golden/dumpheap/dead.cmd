file: corefiles/bubblecs.heap
dumpheap -dead -stat
