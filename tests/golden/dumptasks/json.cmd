file: --no-files corefiles/hang.core.zst
dumptasks -type place --json
