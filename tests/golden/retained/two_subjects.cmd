file: corefiles/bubblecs.heap
exit: 2
retained 1ce056 -type Bubble
