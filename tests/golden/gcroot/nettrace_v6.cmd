file: --no-files tests/data/small300_v6.nettrace
gcroot 7f4c9dc13ae0
