file: tests/data/made.hprof
exit: 1
info
