file: tests/data/seed001.heap
exit: 2
gcroot 22c81b
