file: tests/data/small300.gcdump
retained 7f4c9dc13ae0
