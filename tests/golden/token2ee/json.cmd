file: --no-files corefiles/leak.core.zst
token2ee * 06000001 --json
