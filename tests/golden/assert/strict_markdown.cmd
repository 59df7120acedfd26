file: corefiles/bubblecs.heap
exit: 2
assert -max BubbleCS.Buble=5 -max ^BubbleCS.Bubble$=1MB -markdown -strict
