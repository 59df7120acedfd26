file: tests/data/kinds.heap
dumpheap -dead
