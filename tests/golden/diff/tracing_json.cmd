file: tests/data/untraced.heap
exit: 1
diff tests/data/traced.heap --json
