file: --no-files corefiles/leak.core.zst
finalizequeue -limit 2 --json
