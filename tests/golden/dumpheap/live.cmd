file: corefiles/bubblecs.heap
dumpheap -live -stat -type GameBoard
