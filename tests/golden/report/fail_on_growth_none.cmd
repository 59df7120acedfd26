file: tests/data/before.heap
report -against tests/data/small300.gcdump -fail-on growth
