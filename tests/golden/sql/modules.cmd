file: --no-files corefiles/leak.core.zst
sql "SELECT name, version, collectible, ready_to_run, size, mvid FROM modules ORDER BY name"
