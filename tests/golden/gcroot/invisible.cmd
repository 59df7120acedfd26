file: tests/data/invisible.heap
gcroot 90
