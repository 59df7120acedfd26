file: tests/data/kinds.heap
roots
