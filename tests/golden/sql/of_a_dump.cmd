file: corefiles/bubblecs.heap
exit: 3
sql "SELECT * FROM threads"
