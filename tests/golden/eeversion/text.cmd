file: --no-files corefiles/leak.core.zst
eeversion
