file: corefiles/bubblecs.heap
exit: 2
dumpheap -min 12q
