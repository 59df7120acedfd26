file: corefiles/bubblecs.heap
gcroot 1ce056
