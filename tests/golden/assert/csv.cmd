file: corefiles/bubblecs.heap
exit: 1
assert -max BubbleCS.Bubble=1 -max-heap 100M --format csv
