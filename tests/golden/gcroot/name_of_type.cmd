file: corefiles/leak.core.zst
gcroot WebShop.Session
