file: tests/data/chain.heap
gcroot 212b
