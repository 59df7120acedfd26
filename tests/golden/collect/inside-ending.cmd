file: corefiles/bubblecs.heap
exit: 2
collect 1 -inside -o /a.dmp
