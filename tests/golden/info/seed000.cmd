file: tests/data/seed000.heap
exit: 1
info
