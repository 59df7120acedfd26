file: --no-files corefiles/leak.core.zst
sizestats --format csv
