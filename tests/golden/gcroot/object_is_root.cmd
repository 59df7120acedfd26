file: corefiles/bubblecs.heap
gcroot 22c81b
