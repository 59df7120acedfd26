file: --no-files corefiles/leak.core.zst
notreachableinrange 7f039d400000 7f03a0000000 -stat
