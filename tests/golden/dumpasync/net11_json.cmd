file: --no-files --symbols corefiles/symbols corefiles/hang11.core.zst
dumpasync -fields -limit 1 --json
