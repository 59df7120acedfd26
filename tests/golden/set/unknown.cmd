file: corefiles/bubblecs.heap
exit: 2
set gc on
