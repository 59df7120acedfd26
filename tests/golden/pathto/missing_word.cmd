file: corefiles/bubblecs.heap
exit: 2
pathto 1ce056
