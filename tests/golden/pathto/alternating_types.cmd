file: tests/data/chain.heap
pathto 1001 11f3
