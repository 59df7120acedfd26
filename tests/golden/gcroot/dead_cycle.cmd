file: tests/data/kinds.heap
exit: 1
gcroot 401
