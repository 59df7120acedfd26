file: tests/data/chain.heap
gcroot 11f3
