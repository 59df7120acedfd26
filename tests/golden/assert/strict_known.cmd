file: --no-files corefiles/leak.core.zst
assert -max-bytes ^WebShop.Session$=1.5M -strict
