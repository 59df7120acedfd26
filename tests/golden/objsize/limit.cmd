file: corefiles/bubblecs.heap
objsize 1ce056 -limit 3
