file: --no-files corefiles/hang.core.zst
exit: 2
syncblk 300
