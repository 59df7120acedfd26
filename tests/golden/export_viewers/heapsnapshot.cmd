file: corefiles/bubblecs.heap
export - --format heapsnapshot
