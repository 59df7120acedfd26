file: --lenient tests/data/lost_object.heap
exit: 1
pathto 30 10 --json
