file: tests/data/list.heap
gcroot 20000 --json
