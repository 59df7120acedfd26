file: corefiles/bubblecs.heap
exit: 2
assert -max-growth 5%
