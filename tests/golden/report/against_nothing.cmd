file: corefiles/bubblecs.heap
exit: 3
report -against no-such.heap
