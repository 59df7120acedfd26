file: --no-files corefiles/leak.core.zst
dc 7f039d8009b0 -count 5
