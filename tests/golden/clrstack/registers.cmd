file: --no-files corefiles/leak.core.zst
clrstack -thread 1 -r
