file: tests/data/names.heap
types
