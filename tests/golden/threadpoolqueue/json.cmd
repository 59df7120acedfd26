file: --no-files corefiles/hang.core.zst
tpq --json
