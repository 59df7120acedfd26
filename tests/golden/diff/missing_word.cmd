file: tests/data/before.heap
exit: 2
diff
