file: --no-files corefiles/leak.core.zst
dumpheap -stat -bycount -min 1000
