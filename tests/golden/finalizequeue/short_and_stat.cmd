file: --no-files corefiles/leak.core.zst
finalizequeue -short -stat
