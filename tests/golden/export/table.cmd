file: corefiles/bubblecs.heap
exit: 2
export refs.arrows -table edges
