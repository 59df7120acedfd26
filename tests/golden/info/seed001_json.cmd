file: tests/data/seed001.heap
exit: 1
info --json
