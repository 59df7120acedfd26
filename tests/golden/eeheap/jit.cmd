file: --no-files corefiles/leak.core.zst
eeheap -jit
