file: --no-files corefiles/hang.core.zst
clrthreads -special -managedexception --json
