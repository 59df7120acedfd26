file: corefiles/bubblecs.heap
dumpheap -type Score -short
