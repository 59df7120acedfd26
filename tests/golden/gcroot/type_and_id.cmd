file: corefiles/bubblecs.heap
exit: 2
gcroot 1ce056 -type Particle
