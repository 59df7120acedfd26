file: corefiles/bubblecs.heap
dumpheap -max 0 -short
