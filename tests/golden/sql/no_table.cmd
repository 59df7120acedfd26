file: corefiles/bubblecs.heap
exit: 2
sql "SELECT * FROM unknown"
