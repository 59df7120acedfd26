file: corefiles/hang.core.zst
sql "SELECT waits_for, count(*), count(object), count(owner_id) FROM waits GROUP BY 1"
