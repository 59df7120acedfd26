file: --no-files corefiles/leak.core.zst
exit: 2
dumpmt 1000
