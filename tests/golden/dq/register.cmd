file: --no-files corefiles/leak.core.zst
front: shell
exit: 2
dq $rsp
