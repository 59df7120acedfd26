file: corefiles/bubblecs.heap
exit: 3
maddress
