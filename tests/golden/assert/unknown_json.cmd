file: --no-files corefiles/moving.core.zst
exit: 1
assert -max-heap 1G --json
