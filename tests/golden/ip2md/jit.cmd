file: --no-files corefiles/leak.core.zst
ip2md 7f0f794a1bb0
