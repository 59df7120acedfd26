file: --no-files corefiles/hang.core.zst
dumpasync -tasks -limit 1
