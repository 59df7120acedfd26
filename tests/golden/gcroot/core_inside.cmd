file: --no-files corefiles/leak.core.zst
exit: 2
gcroot 7f039fe5a160
