file: --no-files corefiles/nativeaot8.core.zst
dumpheap -stat
