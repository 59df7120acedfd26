file: corefiles/leak.core.zst
referrers WebShop.Session
