file: tests/data/after.heap
assert -against tests/data/before.heap -max-growth 1G --json
