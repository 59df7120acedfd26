file: --no-files corefiles/leak.core.zst
exit: 2
ehinfo 7f0f784699e8
