file: --no-files corefiles/leak.core.zst
exit: 2
dumpheap -live -dead
