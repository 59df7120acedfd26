file: --no-files corefiles/hang.core.zst
dumpasync -address 7fb0d9809740 --format csv
