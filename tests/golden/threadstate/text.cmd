file: --no-files corefiles/leak.core.zst
threadstate 1021220
