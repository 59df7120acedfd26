file: --no-files corefiles/leak.core.zst
exit: 2
token2ee leak 04000001
