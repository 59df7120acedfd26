file: corefiles/bubblecs.heap
exit: 2
roots -flag dirty
