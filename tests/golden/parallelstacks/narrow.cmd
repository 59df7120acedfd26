file: --no-files corefiles/hang.core.zst
parallelstacks --width 80
