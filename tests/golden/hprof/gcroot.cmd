file: tests/data/made.hprof
gcroot 105
