file: --no-files --exact tests/data/small300.nettrace
info
