file: corefiles/bubblecs.heap
dominators -top 3 --json
