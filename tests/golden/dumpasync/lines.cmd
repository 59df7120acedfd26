file: --no-files --symbols corefiles/symbols corefiles/hang.core.zst
dumpasync -limit 3
