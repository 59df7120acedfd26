file: --no-files corefiles/leak.core.zst
exit: 1
dumpalc 7f039fe5a158 --json
