file: --no-files corefiles/leak.core.zst
exit: 2
dumpheap 2000 1000
