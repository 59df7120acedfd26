file: corefiles/bubblecs.heap
export - --format folded
