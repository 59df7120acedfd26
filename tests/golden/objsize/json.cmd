file: corefiles/bubblecs.heap
objsize 1ce395 --json
