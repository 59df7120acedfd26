file: --no-files corefiles/hang.core.zst
dumpasync -tasks -completed -type Task -limit 3 --json
