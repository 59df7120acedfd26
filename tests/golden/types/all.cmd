file: tests/data/kinds.heap
types
