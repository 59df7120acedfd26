file: corefiles/bubblecs.heap
dumpobj 1ce056
