file: --no-files corefiles/hang.core.zst
report
