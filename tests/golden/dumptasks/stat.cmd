file: --no-files corefiles/hang.core.zst
dumptasks -stat
