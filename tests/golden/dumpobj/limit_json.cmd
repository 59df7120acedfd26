file: corefiles/bubblecs.heap
dumpobj 1ce11f -limit 2 --json
