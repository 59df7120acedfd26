file: --no-files corefiles/leak.core.zst
dumpheap -segment 7f0f67e114b8 -stat
