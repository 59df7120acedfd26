file: --no-files corefiles/leak.core.zst
objsize 7f039fe5a158 -strings -limit 3
