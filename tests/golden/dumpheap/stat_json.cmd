file: corefiles/bubblecs.heap
dumpheap -stat --json
