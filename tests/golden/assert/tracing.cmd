file: tests/data/traced.heap
exit: 1
assert -against tests/data/untraced.heap -max-growth 5%
