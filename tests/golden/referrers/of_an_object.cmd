file: corefiles/bubblecs.heap
referrers 1ce056
