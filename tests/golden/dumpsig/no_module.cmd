file: --no-files corefiles/leak.core.zst
exit: 2
dumpsig 7f0ff80220ea 10
