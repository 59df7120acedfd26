file: corefiles/leak.core.zst
retained WebShop.Session
