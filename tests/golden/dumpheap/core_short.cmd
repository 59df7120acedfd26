file: --no-files corefiles/leak.core.zst
dumpheap -short -type WebShop.Product -limit 5
