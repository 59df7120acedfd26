file: corefiles/bubblecs.heap
exit: 2
report -minutes 5
