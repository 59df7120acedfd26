file: --no-files corefiles/leak.core.zst
dumpdelegate 7f039fe5a248 --json
