file: tests/data/made.hprof
dumpheap -stat
