file: corefiles/bubblecs.heap
exit: 2
dumpheap -live -dead
