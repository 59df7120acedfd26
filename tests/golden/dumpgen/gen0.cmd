file: --no-files corefiles/leak.core.zst
dumpgen gen0
