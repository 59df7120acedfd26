file: tests/data/formulas.heap
types --format csv
