file: --no-files corefiles/leak.core.zst
exit: 2
clrstack -thread 9
