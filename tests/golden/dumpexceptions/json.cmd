file: corefiles/leak.core.zst
dumpexceptions --json -limit 1 -type OutOf
