file: corefiles/bubblecs.heap
sql "SELECT type, count(*) AS objects, sum(size) AS bytes FROM objects GROUP BY type ORDER BY bytes DESC LIMIT 5"
