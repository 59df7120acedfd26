file: --no-files corefiles/leak.core.zst
dumpstackobjects -thread 1 --json
