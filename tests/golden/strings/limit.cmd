file: --no-files corefiles/leak.core.zst
strings -limit 5
