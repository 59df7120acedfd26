file: --no-files corefiles/leak.core.zst
exit: 3
gcroot 7f039fc09b30
