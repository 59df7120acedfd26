file: --no-files corefiles/hang.core.zst
clrthreads -live -special
