file: --no-files corefiles/leak.core.zst
ephrefs --json -stat
