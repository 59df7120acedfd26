file: --no-files corefiles/leak.core.zst
dumpmt WebShop.PriceFeed -md --width 80
