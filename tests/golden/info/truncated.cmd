file: tests/data/cut.heap
exit: 1
info
