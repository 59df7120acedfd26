file: tests/data/sections.heap
types --json
