file: --no-files corefiles/leak.core.zst
ao --json
