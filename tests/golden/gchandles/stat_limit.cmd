file: --no-files corefiles/leak.core.zst
gchandles -stat -limit 2
