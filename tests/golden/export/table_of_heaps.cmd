file: corefiles/bubblecs.heap
exit: 2
export heap.arrows -table threads
