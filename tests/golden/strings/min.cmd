file: --no-files corefiles/leak.core.zst
strings -min 110
