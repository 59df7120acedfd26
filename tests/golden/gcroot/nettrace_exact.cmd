file: --no-files --exact tests/data/small300.nettrace
gcroot 7f4c9dc13ae0
