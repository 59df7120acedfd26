file: tests/data/seed000.heap
exit: 2
gcroot 1ce11f
