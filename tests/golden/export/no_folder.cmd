file: corefiles/bubblecs.heap
exit: 3
export no-such-folder/x.heap
