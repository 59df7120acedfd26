file: tests/data/small300.gcdump
gcroot -type HeapApp
