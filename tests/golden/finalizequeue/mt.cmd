file: --no-files corefiles/leak.core.zst
finalizequeue -mt 7f0f798373e8 -short
