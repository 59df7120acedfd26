file: corefiles/bubblecs.heap
open --lenient tests/data/lenient.heap
