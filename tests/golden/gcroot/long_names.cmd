file: tests/data/names.heap
gcroot 9
