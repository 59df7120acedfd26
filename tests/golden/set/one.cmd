file: corefiles/bubblecs.heap
set color
