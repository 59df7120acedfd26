file: tests/data/invisible.heap
types --json
