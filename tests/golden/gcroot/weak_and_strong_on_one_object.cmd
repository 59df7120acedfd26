file: tests/data/kinds.heap
gcroot 302
