file: corefiles/bubblecs.heap
gcroot 1ce000+50+6
