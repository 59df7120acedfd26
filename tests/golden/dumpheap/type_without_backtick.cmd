file: corefiles/bubblecs.heap
dumpheap -type 'Dictionary2[[System.String, mscorlib' -stat
