file: --no-files corefiles/leak.core.zst
dumpheap -live -short -gen poh
