file: corefiles/bubblecs.heap
roots -kind static
