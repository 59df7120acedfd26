file: corefiles/bubblecs.heap
retained 1ce395 --json
