file: --no-files corefiles/leak.core.zst
exit: 2
dumpmd 7f0f794a1bb0
