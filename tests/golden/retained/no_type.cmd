file: corefiles/bubblecs.heap
exit: 2
retained -type Zork
