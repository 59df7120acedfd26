file: corefiles/bubblecs.heap
retained -mt BubbleCS.Bubble --json
