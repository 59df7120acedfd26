file: corefiles/leak.core.zst
exit: 2
sql "SELECT count(*) FROM fields"
