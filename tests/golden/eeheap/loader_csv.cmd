file: --no-files corefiles/leak.core.zst
eeheap -loader --format csv
