file: tests/data/seed000.heap
objsize 1ce056
