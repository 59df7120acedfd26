file: --no-files corefiles/hang.core.zst
dumptasks -limit 3 --width 80
