file: --no-files corefiles/leak.core.zst
verifyheap 7f039fe5a0c8 7f039fe5a300
