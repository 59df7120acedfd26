file: corefiles/bubblecs.heap
exit: 3
dumpgen gen2
