file: corefiles/bubblecs.heap
exit: 2
report -fail-on growth
