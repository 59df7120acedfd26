file: --no-files corefiles/leak.core.zst
crashinfo
