file: --no-files corefiles/leak.core.zst
dominators -top 12
