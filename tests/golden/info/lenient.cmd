file: --lenient tests/data/lenient.heap
exit: 1
info
