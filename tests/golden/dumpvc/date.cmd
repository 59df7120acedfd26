file: --no-files corefiles/leak.core.zst
dumpvc 7f0f79550a08 7f039fe5a188
