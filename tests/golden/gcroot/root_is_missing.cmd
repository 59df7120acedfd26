file: tests/data/seed000.heap
exit: 1
gcroot 1ce056
