file: corefiles/bubblecs.heap
front: shell gdb
dumpheap -type 'Dictionary`2[[System.String, mscorlib' -stat
