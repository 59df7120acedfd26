file: corefiles/bubblecs.heap
roots -container Sprite
