file: corefiles/bubblecs.heap
gcroot -type BubbleCS -limit 7
