file: tests/data/chain.heap
gcroot 30c7
