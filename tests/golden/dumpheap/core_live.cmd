file: --no-files corefiles/leak.core.zst
dumpheap -live -stat -type WebShop
