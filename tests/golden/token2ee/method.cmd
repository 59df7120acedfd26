file: --no-files corefiles/leak.core.zst
token2ee leak 06000004
