file: --no-files corefiles/leak.core.zst
info -layout --json
