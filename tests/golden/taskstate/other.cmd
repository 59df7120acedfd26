file: --no-files corefiles/hang.core.zst
exit: 2
taskstate 7fb0d9808ff0
