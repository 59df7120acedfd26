file: corefiles/bubblecs.heap
exit: 3
gcroot 1ce056 -conservative
