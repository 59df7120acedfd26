file: --no-files corefiles/leak.core.zst
ephrefs -stat
