file: tests/data/list.heap
gcroot 310
