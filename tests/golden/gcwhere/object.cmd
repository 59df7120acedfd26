file: --no-files corefiles/leak.core.zst
gcwhere 7f039fc09b30
