file: --no-files corefiles/hang11.core.zst
clrthreads
