file: tests/data/small300.gcdump
dumpheap -stat -type HeapApp.L
