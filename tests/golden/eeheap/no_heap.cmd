file: --no-files corefiles/leak.core.zst
exit: 2
eeheap -heap 4
