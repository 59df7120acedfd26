file: corefiles/bubblecs.heap
exit: 3
open no-such.heap
