file: corefiles/bubblecs.heap
dumpheap 1ce004 1ce010
