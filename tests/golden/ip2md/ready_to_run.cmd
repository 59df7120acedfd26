file: --no-files corefiles/leak.core.zst
ip2md 7f0f785d7590
