file: tests/data/before.heap
exit: 3
diff tests/data/no-such.heap
