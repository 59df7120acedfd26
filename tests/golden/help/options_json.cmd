file: corefiles/bubblecs.heap
help options --json
