file: corefiles/bubblecs.heap
exit: 1
gcroot 1ce017 -nostacks
