file: corefiles/hang.core.zst
sql "SELECT * FROM work_items"
