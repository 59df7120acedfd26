file: --no-files corefiles/leak.core.zst
dumpheap -min 50000
