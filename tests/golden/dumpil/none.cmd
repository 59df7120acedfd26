file: --no-files corefiles/leak.core.zst
exit: 2
dumpil 10
