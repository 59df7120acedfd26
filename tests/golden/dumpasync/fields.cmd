file: --no-files corefiles/hang.core.zst
dumpasync -fields -limit 1
