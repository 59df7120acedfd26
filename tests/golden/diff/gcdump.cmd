file: tests/data/small300.gcdump
exit: 1
diff tests/data/small1000.gcdump -limit 5
