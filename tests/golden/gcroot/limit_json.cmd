file: corefiles/bubblecs.heap
gcroot 1ce056 -limit 1 --json
