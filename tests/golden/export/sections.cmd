file: tests/data/sections.heap
export - --format rpm
