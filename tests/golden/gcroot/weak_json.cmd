file: corefiles/bubblecs.heap
gcroot 1ce056 -weak --json
