file: tests/data/cut.heap
dumpheap -dead
