file: tests/data/small300.gcdump
dominators -top 3
