file: tests/data/lenient.heap
front: shell
exit: 3
info
