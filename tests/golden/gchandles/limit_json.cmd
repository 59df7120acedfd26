file: --no-files corefiles/leak.core.zst
gchandles -limit 1 -type Strong --json
