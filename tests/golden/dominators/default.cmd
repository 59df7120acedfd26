file: corefiles/bubblecs.heap
dominators
