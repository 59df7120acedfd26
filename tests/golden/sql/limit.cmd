file: corefiles/leak.core.zst
sql -limit 2 "SELECT address, size, generation FROM objects WHERE type = 'WebShop.Session'"
