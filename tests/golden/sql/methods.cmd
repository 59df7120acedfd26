file: --no-files corefiles/leak.core.zst
sql "SELECT name, type, token, kind, is_current, size FROM methods WHERE type LIKE 'WebShop.%' ORDER BY code"
