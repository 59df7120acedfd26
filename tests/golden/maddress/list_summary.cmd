file: --no-files corefiles/leak.core.zst
maddress -list gchEAP,PAGE_EXECUTE_READ,gc-table -stat
