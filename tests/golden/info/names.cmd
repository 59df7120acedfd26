file: tests/data/names.heap
info
