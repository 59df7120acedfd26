file: corefiles/leak.core.zst
sql "SELECT r.field, h.type FROM refs r JOIN objects h ON h.address = r.[from] WHERE r.[to] = 0x7f039d000090 ORDER BY h.address"
