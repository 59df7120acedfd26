file: corefiles/bubblecs.heap
exit: 3
gcwhere 1ce056
