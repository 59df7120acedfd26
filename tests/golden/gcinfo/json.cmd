file: --no-files corefiles/leak.core.zst
gcinfo 7f0f794a3640 --json
