file: --no-files corefiles/leak.core.zst
dumpheap -mt 7f0f79554ed8
