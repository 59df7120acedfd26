file: corefiles/bubblecs.heap
notreachableinrange 1c0000 1d0000 -stat
