file: --no-files corefiles/leak.core.zst
clrstack -limit 2 -thread 1
