file: --no-files corefiles/leak.core.zst
dumpmt WebShop.Session -MD
