file: --no-files corefiles/nativeaot10.core.zst
exit: 3
eeheap -loader
