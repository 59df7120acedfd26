file: corefiles/bubblecs.heap
exit: 1
pathto 1ce03a 1ce4e2
