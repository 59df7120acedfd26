file: --no-files corefiles/leak.core.zst
dw 7f039d8009b0 -count 9
