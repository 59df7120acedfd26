file: --no-files corefiles/leak.core.zst
gcroot 7f039d0b5ef8
