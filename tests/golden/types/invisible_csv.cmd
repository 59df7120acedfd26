file: tests/data/invisible.heap
types --format csv
