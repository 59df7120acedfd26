file: --no-files corefiles/leak.core.zst
finalizequeue -stat
