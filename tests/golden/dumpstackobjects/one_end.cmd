file: --no-files corefiles/leak.core.zst
exit: 2
dso 7ffd79768000
