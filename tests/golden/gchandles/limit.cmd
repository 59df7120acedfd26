file: --no-files corefiles/leak.core.zst
gchandles -limit 2
