file: --no-files corefiles/leak.core.zst
exit: 2
threadstate 100000000
