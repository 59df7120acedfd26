file: tests/data/made.hprof
report
