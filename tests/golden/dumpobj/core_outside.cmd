file: --no-files corefiles/leak.core.zst
exit: 2
dumpobj 1000
