file: --no-files corefiles/hang.core.zst
front: shell
exit: 2
setthread 99
