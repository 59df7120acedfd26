file: corefiles/bubblecs.heap
help config
