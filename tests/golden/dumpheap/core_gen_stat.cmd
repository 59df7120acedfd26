file: --no-files corefiles/leak.core.zst
dumpheap -stat -gen foh
