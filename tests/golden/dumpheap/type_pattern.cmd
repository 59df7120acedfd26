file: corefiles/bubblecs.heap
dumpheap -stat -type ^bubblecs.*board$
