file: --no-files tests/data/small300.nettrace
dumpheap -stat -type HeapApp.L
