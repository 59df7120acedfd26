file: corefiles/bubblecs.heap
dumpheap -stat -bycount -type Bubble
