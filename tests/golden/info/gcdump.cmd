file: tests/data/small300.gcdump
info
