file: --no-files corefiles/leak.core.zst
dumpheap -strings -gen loh
