file: --no-files corefiles/nativeaot9.core.zst
threadpool
