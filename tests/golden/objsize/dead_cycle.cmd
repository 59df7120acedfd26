file: tests/data/kinds.heap
objsize 400 -stat
