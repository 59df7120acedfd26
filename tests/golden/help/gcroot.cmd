file: corefiles/bubblecs.heap
help gcroot
