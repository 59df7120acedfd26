file: --no-files corefiles/leak.core.zst
exit: 2
ip2md 1000
