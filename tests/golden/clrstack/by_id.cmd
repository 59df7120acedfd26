file: --no-files corefiles/leak.core.zst
clrstack 4c59
