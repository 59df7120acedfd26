file: corefiles/bubblecs.heap
triage
