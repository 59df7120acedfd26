file: tests/data/small300.gcdump
exit: 3
eeheap
