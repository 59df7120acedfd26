file: tests/data/invisible.heap
export - --format rpm
