file: tests/data/small300.gcdump
gcroot 7f4c9dc13ae0
