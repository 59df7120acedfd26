file: --no-files tests/data/small300.nettrace
info
