file: --no-files tests/data/small300.nettrace
roots -kind thread-static
