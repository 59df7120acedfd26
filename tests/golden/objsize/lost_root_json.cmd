file: --lenient tests/data/lost_root.heap
objsize 10 -stat --json
