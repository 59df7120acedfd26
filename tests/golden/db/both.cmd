file: --no-files corefiles/leak.core.zst
exit: 2
db 7f039d8009b0 -end 7f039d8009c0 -count 1
