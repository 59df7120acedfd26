file: --no-files corefiles/leak.core.zst
eeheap -segment 7f0f67e119f8
