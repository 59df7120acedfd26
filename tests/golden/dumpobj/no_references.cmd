file: corefiles/bubblecs.heap
dumpobj 1ce113 -refs
