file: --no-files corefiles/leak.core.zst
exit: 2
notreachableinrange 20 10
