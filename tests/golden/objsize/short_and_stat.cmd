file: corefiles/bubblecs.heap
objsize 1ce056 -short -stat
