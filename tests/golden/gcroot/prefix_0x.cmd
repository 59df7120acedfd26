file: corefiles/bubblecs.heap
GCROOT 0x1CE056 --limit=1
