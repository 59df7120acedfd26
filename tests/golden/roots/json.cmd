file: tests/data/kinds.heap
roots -flag weak --json
