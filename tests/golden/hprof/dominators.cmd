file: tests/data/made.hprof
dominators -json
