file: tests/data/sections.heap
dumpheap -mt 2
