file: corefiles/bubblecs.heap
assert -max BubbleCS.Buble=5 -max-heap 1T
