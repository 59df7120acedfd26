file: corefiles/bubblecs.heap
exit: 2
help bt
