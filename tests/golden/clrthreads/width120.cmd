file: --no-files corefiles/leak.core.zst
clrthreads --width 120
