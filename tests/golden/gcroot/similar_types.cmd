file: corefiles/bubblecs.heap
exit: 2
gcroot bubblecs.gameboard
