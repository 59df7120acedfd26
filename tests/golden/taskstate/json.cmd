file: --no-files corefiles/hang.core.zst
tks 7fb0d9814540 --json
