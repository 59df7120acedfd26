file: --no-files corefiles/musl8.core.zst
exit: 1
hang
