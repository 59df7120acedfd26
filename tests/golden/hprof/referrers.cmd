file: tests/data/made.hprof
referrers 103
