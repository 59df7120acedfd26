file: --no-files corefiles/leak.core.zst
clrstack --width 120
