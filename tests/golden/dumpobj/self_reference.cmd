file: tests/data/kinds.heap
dumpobj 403 -refs
