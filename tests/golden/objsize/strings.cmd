file: corefiles/bubblecs.heap
exit: 3
objsize 1ce056 -strings
