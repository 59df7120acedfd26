file: --no-files corefiles/hang.core.zst
referrers 7fb0d98140a0 --json
