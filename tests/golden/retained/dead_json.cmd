file: corefiles/bubblecs.heap
exit: 1
retained 1ce4bf --json
