file: corefiles/bubblecs.heap
front: shell gdb
exit: 2
dumpruntimetypes --json
