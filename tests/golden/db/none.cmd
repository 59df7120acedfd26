file: --no-files corefiles/leak.core.zst
exit: 3
db 10
