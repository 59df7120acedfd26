file: tests/data/seed001.heap
roots
