file: corefiles/bubblecs.heap
gcroot 1ce056 -NoStacks -LIMIT 1
