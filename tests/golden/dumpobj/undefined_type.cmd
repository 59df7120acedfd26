file: tests/data/seed001.heap
dumpobj 1ce056 --json
