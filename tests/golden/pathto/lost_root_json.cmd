file: --lenient tests/data/lost_root.heap
exit: 1
pathto 30 10 --json
