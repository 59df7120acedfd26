file: --no-files tests/data/small300.nettrace
roots -kind static -limit 5
