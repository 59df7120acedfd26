file: --no-files corefiles/leak.core.zst
notreachableinrange 7f039fc00000 7f03a0000000 -short -limit 3
