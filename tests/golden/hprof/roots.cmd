file: tests/data/made.hprof
roots
