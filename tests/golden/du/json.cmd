file: --no-files corefiles/leak.core.zst
du 7f039d8009b0+c -count 40 --json
