file: --no-files corefiles/leak.core.zst
gcheapstat -iu --json
