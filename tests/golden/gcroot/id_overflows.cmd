file: corefiles/bubblecs.heap
front: shell
exit: 2
gcroot 11112222333344445
