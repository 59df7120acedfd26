file: tests/data/names.heap
front: shell lldb
export -
