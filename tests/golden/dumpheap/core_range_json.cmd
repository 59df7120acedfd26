file: --no-files corefiles/leak.core.zst
dumpheap 7f039fe5a0c8 7f039fe5a300 --json
