file: --no-files corefiles/leak.core.zst
dumpheap -live -strings -min 2000
