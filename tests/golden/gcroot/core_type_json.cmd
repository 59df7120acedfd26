file: --no-files corefiles/leak.core.zst
gcroot -type WebShop.Page -limit 6 --json
