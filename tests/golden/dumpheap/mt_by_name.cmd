file: corefiles/leak.core.zst
dumpheap -stat -mt WebShop.Session
