file: --no-files corefiles/leak.core.zst
gchandles -type ref-counted --json
