file: corefiles/bubblecs.heap
objsize -mt 32 -stat
