file: corefiles/bubblecs.heap
dumpheap -type NoSuchType
