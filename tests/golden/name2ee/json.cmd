file: --no-files corefiles/leak.core.zst
name2ee * WebShop.Session..ctor --json
