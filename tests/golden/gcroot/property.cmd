file: --no-files corefiles/hang.core.zst
gcroot 7fb0d98140a0
