file: corefiles/bubblecs.heap
retained 1ce39b
