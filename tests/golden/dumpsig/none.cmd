file: --no-files corefiles/leak.core.zst
exit: 3
dumpsig 10 7f0f79538438
