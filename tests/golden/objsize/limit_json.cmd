file: corefiles/bubblecs.heap
objsize 1ce395 -limit 2 --json
