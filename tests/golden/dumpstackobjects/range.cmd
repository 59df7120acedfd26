file: --no-files corefiles/leak.core.zst
dso 7ffd79768000 7ffd79764000
