file: --no-files corefiles/leak.core.zst
dominators -stat -top 4
