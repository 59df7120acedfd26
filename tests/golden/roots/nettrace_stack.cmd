file: --no-files tests/data/small300.nettrace
roots -kind stack -limit 3
