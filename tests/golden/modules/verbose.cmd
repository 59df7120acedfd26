file: --no-files corefiles/leak.core.zst
lm -v -n coreclr
