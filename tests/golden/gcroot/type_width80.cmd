file: --no-files corefiles/leak.core.zst
gcroot -type WebShop.Session --width 80
