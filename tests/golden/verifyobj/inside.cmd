file: --no-files corefiles/leak.core.zst
exit: 2
verifyobj 7f039fe5a158+8
