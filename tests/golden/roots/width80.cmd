file: --no-files corefiles/leak.core.zst
roots -limit 12 --width 80
