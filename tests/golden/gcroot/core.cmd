file: --no-files corefiles/leak.core.zst
gcroot 7f039fc09b30
