file: corefiles/bubblecs.heap
exit: 2
set workers 65
