file: corefiles/bubblecs.heap
set
