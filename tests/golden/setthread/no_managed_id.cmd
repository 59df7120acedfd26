file: --no-files corefiles/hang.core.zst
front: shell
exit: 2
setthread -thread 99
