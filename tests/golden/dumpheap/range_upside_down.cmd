file: corefiles/bubblecs.heap
exit: 2
dumpheap 1ce010 1ce004
