file: tests/data/small300.gcdump
roots -stat
