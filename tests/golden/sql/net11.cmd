file: --no-files --symbols corefiles/symbols corefiles/hang11.core.zst
sql "SELECT method, count(*) AS n FROM tasks GROUP BY 1 ORDER BY 2 DESC, 1"
