file: corefiles/bubblecs.heap
gcroot -type Particle -nostacks
