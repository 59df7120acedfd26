file: --no-files corefiles/leak.core.zst
exit: 2
dcq 7f039d0000d0
