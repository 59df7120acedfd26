file: tests/data/sections.heap
dumpheap
