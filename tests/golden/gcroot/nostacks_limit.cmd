file: corefiles/bubblecs.heap
gcroot 1ce270 -nostacks -limit 1
