file: tests/data/sections.heap
dumpobj ffffffffffffffff
