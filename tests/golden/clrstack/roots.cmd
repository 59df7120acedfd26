file: --no-files corefiles/leak.core.zst
clrstack -roots
