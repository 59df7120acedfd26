file: --no-files corefiles/leak.core.zst
dumpheap -limit 3 -type CartLine
