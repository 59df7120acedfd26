file: --no-files corefiles/leak.core.zst
dumpheap -dead -gen gen2 --json
