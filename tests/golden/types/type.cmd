file: corefiles/bubblecs.heap
types -type Score
