file: corefiles/bubblecs.heap
roots -stat --json
