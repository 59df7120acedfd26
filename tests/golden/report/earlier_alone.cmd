file: corefiles/bubblecs.heap
exit: 2
report other.heap
