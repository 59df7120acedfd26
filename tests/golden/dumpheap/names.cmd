file: tests/data/names.heap
dumpheap -stat
