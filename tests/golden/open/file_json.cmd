file: corefiles/bubblecs.heap
open tests/data/kinds.heap --json
