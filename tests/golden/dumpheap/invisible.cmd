file: tests/data/invisible.heap
dumpheap -stat -type A.Zero\\u200bWidth
