file: corefiles/bubblecs.heap
front: shell
exit: 2
gcroot 1ceXYZ
