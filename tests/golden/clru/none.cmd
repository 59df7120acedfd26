file: --no-files corefiles/leak.core.zst
exit: 2
clru 10
