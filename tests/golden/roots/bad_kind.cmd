file: corefiles/bubblecs.heap
exit: 2
roots -kind heap
