file: --no-files corefiles/leak.core.zst
dumpcollection 7f039d0000d0 --json
