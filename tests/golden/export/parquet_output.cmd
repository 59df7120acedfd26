file: corefiles/bubblecs.heap
exit: 2
export - -format parquet
