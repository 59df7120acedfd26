file: --no-files corefiles/leak.core.zst
exit: 2
name2ee nothere WebShop.Session
