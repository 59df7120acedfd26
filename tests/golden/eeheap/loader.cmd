file: --no-files corefiles/leak.core.zst
exit: 3
eeheap -loader
