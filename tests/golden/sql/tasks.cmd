file: corefiles/hang.core.zst
sql "SELECT method, status, count(*) FROM tasks GROUP BY 1, 2 ORDER BY 3 DESC, 1"
