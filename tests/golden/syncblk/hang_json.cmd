file: --no-files corefiles/hang.core.zst
syncblk 1 --json
