file: --no-files corefiles/leak.core.zst
dumpobj 7f039fc09b30
