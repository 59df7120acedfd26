file: corefiles/bubblecs.heap
dominators 1ce01d -top 5
