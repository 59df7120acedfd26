file: --no-files corefiles/hang.core.zst
exit: 1
report
