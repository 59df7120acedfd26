file: tests/data/many_roots.heap
gcroot 1000 -limit 2
