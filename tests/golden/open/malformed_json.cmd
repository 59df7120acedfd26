file: corefiles/bubblecs.heap
exit: 3
open tests/data/bad.heap --json
