file: --no-files corefiles/hang.core.zst
dumpasync --width 80
