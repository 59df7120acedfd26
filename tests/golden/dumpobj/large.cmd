file: tests/data/sections.heap
dumpobj 0
