file: corefiles/bubblecs.heap
dominators 1ce4bf
