file: corefiles/bubblecs.heap
help do
