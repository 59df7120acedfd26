file: --no-files corefiles/leak.core.zst
exit: 2
gcwhere 1000
