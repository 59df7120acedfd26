file: corefiles/bubblecs.heap
exit: 2
dumpheap -type NoSuchType
