file: corefiles/bubblecs.heap
set width --json
