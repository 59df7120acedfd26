file: corefiles/bubblecs.heap
exit: 2
assert -max-heap 100M -max-heap=200MB
