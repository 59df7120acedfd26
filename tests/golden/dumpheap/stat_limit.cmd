file: --no-files corefiles/leak.core.zst
dumpheap -stat -limit 3
