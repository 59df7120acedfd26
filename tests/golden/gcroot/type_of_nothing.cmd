file: corefiles/bubblecs.heap
exit: 1
gcroot -type Nothing
