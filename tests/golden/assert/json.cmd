file: --no-files corefiles/leak.core.zst
exit: 1
assert -max WebShop.Session=100 -max-heap 100M --json
