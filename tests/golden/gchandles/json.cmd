file: --no-files corefiles/leak.core.zst
gchandles --json
