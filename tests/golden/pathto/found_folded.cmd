file: corefiles/bubblecs.heap
pathto 1ce03a 1ce348
