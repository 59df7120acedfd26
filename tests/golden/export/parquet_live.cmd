file: corefiles/bubblecs.heap
exit: 2
export heap.parquet/ -live
