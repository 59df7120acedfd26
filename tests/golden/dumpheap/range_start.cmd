file: corefiles/bubblecs.heap
dumpheap 2f5612
