file: tests/data/alike.heap
gcroot 10 -limit 1
