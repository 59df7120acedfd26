file: --no-files corefiles/leak.core.zst
dq 7f039d800ea8 -count 4
