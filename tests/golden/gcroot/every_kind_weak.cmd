file: tests/data/kinds.heap
gcroot 200 -weak -all
