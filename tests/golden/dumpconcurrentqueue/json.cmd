file: --no-files corefiles/hang.core.zst
dcq 7fb0d98135f8 -limit 2 --json
