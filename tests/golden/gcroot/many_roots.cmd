file: tests/data/many_roots.heap
gcroot 1000
