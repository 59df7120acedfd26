file: corefiles/bubblecs.heap
dominators -top 8
