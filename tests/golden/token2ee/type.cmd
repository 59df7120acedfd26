file: --no-files corefiles/leak.core.zst
token2ee LEAK.dll 0x02000004
