file: --no-files corefiles/leak.core.zst
lno 7f039fe5a158+8
