file: --no-files corefiles/leak.core.zst
dumpgen poh --json
