file: --no-files corefiles/hang.core.zst
exit: 2
setthread 1 -all
