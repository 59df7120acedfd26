file: corefiles/bubblecs.heap
exit: 2
pathto 1ce056 1ce057
