file: tests/data/before.heap
diff tests/data/before.heap
