file: corefiles/bubblecs.heap
exit: 1
dominators 1ce4bf
