file: tests/data/bad.heap
front: shell
exit: 3
info --json
