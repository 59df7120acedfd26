file: --no-files corefiles/leak.core.zst
types -type WebShop
