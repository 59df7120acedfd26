file: --no-files corefiles/leak.core.zst
maddress -list "HandleTable, highfrequencyheap" -forceHandleTable
