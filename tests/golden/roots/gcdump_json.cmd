file: tests/data/small300.gcdump
roots -kind finalizer --json
