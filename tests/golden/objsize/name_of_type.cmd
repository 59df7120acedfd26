file: corefiles/bubblecs.heap
objsize BubbleCS.GameBoard -stat
