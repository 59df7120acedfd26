file: --no-files corefiles/leak.core.zst
threadstate 81021320 --json
