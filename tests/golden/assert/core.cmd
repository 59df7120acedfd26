file: --no-files corefiles/leak.core.zst
exit: 1
assert -max WebShop.Session=100 -max WebShop.*=50K -max-bytes System.String=10M -max-heap 100M
