file: corefiles/leak.core.zst
sql --format csv "SELECT kind, count(*) FROM handles GROUP BY kind"
