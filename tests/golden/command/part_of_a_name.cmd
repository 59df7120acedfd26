file: corefiles/bubblecs.heap
exit: 2
front: shell
gcr 1ce056
