file: tests/data/small300.gcdump
diff tests/data/small300.nettrace -type HeapApp.L
