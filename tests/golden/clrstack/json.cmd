file: --no-files corefiles/leak.core.zst
clrstack --json -roots -thread 1
