file: corefiles/bubblecs.heap
assert --max BubbleCS.Bubble=1000 --max-heap=1G
