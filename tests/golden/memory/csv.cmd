file: --no-files corefiles/leak.core.zst
memory --format csv
