file: tests/data/sections.heap
exit: 1
info
