file: corefiles/bubblecs.heap
exit: 2
report -o report.pdf
