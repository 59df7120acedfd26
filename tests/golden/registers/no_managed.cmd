file: --no-files corefiles/leak.core.zst
exit: 2
r -thread 99
