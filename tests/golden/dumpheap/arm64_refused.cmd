file: --no-files corefiles/arm64-10.core.zst
exit: 3
dumpheap -stat
