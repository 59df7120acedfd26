file: corefiles/bubblecs.heap
exit: 1
assert -max BubbleCS.Bubble=1 -max Nothing=0 -max System.*=1M -markdown
