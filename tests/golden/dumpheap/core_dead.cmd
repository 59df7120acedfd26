file: --no-files corefiles/leak.core.zst
dumpheap -dead
