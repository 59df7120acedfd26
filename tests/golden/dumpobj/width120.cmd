file: --no-files corefiles/leak.core.zst
dumpobj 7f039fe5a158 --width 120
