file: --no-files corefiles/leak.core.zst
gcroot 7f039d801068
