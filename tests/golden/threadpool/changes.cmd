file: --no-files corefiles/hang.core.zst
threadpool -ti
