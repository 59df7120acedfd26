file: corefiles/bubblecs.heap
exit: 2
gcroot -type Nothing
