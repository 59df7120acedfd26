file: corefiles/bubblecs.heap
info --json
