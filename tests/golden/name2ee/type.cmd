file: --no-files corefiles/leak.core.zst
name2ee leak.dll WebShop.Session
