file: --no-files corefiles/hang.core.zst
dcd 7fb0d98133f8 -limit 2 --json
