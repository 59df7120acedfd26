file: corefiles/bubblecs.heap
exit: 2
report -o no-such-folder/report.csv --format csv
