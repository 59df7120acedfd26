file: --no-files corefiles/hang.core.zst
dumpasync -type Place -all -limit 2
