file: corefiles/bubblecs.heap
roots -kind gc -limit 1 --json
