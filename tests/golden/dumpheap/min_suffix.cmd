file: corefiles/bubblecs.heap
dumpheap -min 100k -short
