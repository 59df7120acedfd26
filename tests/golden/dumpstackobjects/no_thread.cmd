file: --no-files corefiles/leak.core.zst
exit: 2
dso -thread 9
