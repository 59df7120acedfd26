file: corefiles/bubblecs.heap
roots -flag pinned
