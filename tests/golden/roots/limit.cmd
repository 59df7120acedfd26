file: corefiles/bubblecs.heap
roots -limit 2
