file: tests/data/after.heap
exit: 1
diff tests/data/before.heap
