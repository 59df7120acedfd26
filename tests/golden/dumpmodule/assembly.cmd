file: --no-files corefiles/leak.core.zst
exit: 2
dumpmodule 562f8f690dc0
