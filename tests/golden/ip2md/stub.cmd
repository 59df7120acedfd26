file: --no-files corefiles/leak.core.zst
ip2md 7F0F79453060
