file: corefiles/bubblecs.heap
help retained --json
