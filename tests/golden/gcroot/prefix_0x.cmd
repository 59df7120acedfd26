file: corefiles/bubblecs.heap
gcroot 0x1CE056 --limit=1
