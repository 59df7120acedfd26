file: --no-files corefiles/hang.core.zst
dumpcollection 7fb0d9814190
