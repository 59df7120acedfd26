file: tests/data/list.heap
gcroot 410
