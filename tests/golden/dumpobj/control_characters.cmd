file: tests/data/names.heap
dumpobj 1 -refs
