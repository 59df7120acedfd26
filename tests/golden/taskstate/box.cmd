file: --no-files corefiles/hang.core.zst
taskstate 7fb0d9814540
