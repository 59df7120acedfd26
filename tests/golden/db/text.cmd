file: --no-files corefiles/leak.core.zst
db 7f039d8009b0 -count 40
