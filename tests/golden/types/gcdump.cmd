file: tests/data/small300.gcdump
types -type HeapApp.C
