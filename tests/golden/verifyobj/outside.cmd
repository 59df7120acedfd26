file: --no-files corefiles/leak.core.zst
exit: 2
verifyobj 1000
