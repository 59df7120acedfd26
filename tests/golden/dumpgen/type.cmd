file: --no-files corefiles/leak.core.zst
dumpgen GEN2 -type WebShop
