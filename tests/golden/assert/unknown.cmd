file: --no-files corefiles/moving.core.zst
exit: 1
assert -max System.String=100000 -max-heap 1G
