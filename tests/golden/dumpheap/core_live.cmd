file: --no-files corefiles/leak.core.zst
exit: 3
dumpheap -live
