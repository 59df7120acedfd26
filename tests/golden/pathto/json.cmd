file: corefiles/bubblecs.heap
pathto 1ce01d 1ce2b8 --json
