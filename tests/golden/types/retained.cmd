file: --no-files corefiles/leak.core.zst
types -retained -limit 6
