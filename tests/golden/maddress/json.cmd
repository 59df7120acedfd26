file: --no-files corefiles/leak.core.zst
maddress -list kernel --json
