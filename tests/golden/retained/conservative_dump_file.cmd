file: corefiles/bubblecs.heap
exit: 3
retained 1ce056 -conservative
