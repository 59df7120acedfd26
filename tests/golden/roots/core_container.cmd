file: --no-files corefiles/leak.core.zst
roots -container WebShop
