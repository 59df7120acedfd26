file: --no-files corefiles/leak.core.zst
exit: 2
assert -max WebShop.Sesion=5 -max-heap 0.5G -strict
