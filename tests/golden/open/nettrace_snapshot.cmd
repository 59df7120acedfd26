file: corefiles/bubblecs.heap
exit: 3
open --no-files --snapshot 2 tests/data/small300.nettrace
