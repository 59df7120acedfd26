file: --no-files corefiles/leak.core.zst
hang
