file: --no-files corefiles/leak.core.zst
maddress -list "GC heap" -orderBySize
