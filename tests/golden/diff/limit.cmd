file: tests/data/before.heap
exit: 1
diff tests/data/after.heap -limit 2
