file: tests/data/small300.nettrace
info --json
