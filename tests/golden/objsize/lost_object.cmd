file: --lenient tests/data/lost_object.heap
objsize 10
