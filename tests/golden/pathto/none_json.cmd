file: corefiles/bubblecs.heap
exit: 1
pathto 1ce056 1ce4bf --json
