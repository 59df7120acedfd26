file: --no-files corefiles/leak.core.zst
dp 7f0f79538438 -count 4
