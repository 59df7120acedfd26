file: --no-files corefiles/growth_later.core.zst
exit: 1
assert -against corefiles/growth.core.zst -max-growth 5% -max-heap 10M
