file: corefiles/bubblecs.heap
exit: 2
export /dev/null --format xml
