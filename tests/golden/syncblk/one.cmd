file: --no-files corefiles/hang.core.zst
syncblk 2
