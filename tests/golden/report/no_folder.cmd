file: corefiles/bubblecs.heap
exit: 3
report -o no-such-folder/report.html
