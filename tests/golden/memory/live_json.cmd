file: --no-files corefiles/leak.core.zst
memory -live --json
