file: --no-files corefiles/hang.core.zst
dso -thread 4
