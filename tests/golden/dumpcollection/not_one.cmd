file: --no-files corefiles/leak.core.zst
exit: 2
dumpcollection 7f039fe5a158
