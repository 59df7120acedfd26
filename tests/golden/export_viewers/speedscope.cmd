file: corefiles/bubblecs.heap
export - --format speedscope
