file: tests/data/formulas.heap
types --json
