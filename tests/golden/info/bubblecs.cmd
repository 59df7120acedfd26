file: corefiles/bubblecs.heap
info
