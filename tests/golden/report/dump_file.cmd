file: corefiles/bubblecs.heap
report -fail-on high
