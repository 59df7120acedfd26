file: tests/data/kinds.heap
export -
