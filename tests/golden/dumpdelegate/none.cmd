file: --no-files corefiles/leak.core.zst
exit: 2
dumpdelegate 7f039fe5a158
