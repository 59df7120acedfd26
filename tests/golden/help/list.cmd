file: corefiles/bubblecs.heap
help
