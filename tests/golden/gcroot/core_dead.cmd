file: --no-files corefiles/leak.core.zst
exit: 1
gcroot 7f039d800638
