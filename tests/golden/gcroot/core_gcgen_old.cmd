file: --no-files corefiles/leak.core.zst
gcroot 7f039fe5a158 -gcgen 1
