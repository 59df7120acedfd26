file: corefiles/bubblecs.heap
exit: 2
sql "SELECT 1" -o rows.xlsx
