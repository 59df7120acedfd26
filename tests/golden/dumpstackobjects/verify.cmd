file: --no-files corefiles/leak.core.zst
dumpstackobjects -thread 1 -verify --json
