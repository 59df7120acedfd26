file: --no-files corefiles/leak.core.zst
ephrefs -limit 0
