file: corefiles/bubblecs.heap
pathto 1ce056 1ce056
