file: corefiles/bubblecs.heap
dumpheap -limit 2 -type Sprite
