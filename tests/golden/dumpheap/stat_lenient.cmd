file: --lenient tests/data/lenient.heap
dumpheap
