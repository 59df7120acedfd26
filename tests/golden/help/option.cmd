file: corefiles/bubblecs.heap
pathto --help
