file: --no-files corefiles/leak.core.zst
waits -all
