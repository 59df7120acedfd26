file: corefiles/bubblecs.heap
dumpheap -dead -short
