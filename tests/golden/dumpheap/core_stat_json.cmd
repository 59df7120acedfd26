file: --no-files corefiles/leak.core.zst
dumpheap -stat -type WebShop --json
