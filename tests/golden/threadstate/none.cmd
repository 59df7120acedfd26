file: --no-files corefiles/leak.core.zst
threadstate 0
