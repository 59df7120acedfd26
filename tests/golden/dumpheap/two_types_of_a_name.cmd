file: tests/data/after.heap
exit: 2
dumpheap -mt App.Grows
