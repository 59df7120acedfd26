file: --no-files corefiles/hang.core.zst
ti --json
