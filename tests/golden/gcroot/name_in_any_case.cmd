file: corefiles/bubblecs.heap
front: shell gdb
GCRoot 1ce056 --limit=1
