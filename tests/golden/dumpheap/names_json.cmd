file: tests/data/names.heap
dumpheap --json -stat
