file: tests/data/list.heap
dominators 200 -top 0
