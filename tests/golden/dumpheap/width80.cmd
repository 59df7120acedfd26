file: --no-files corefiles/leak.core.zst
dumpheap -stat -type Dictionary --width 80
