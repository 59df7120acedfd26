file: corefiles/bubblecs.heap
exit: 2
export copy.gcdump -codec none
