file: corefiles/bubblecs.heap
dumpheap -type ScoreView
