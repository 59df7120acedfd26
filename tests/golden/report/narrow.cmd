file: --no-files corefiles/leak.core.zst
exit: 1
report --width 80
