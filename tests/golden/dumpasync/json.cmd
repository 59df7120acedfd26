file: --no-files corefiles/hang.core.zst
dumpasync --json
