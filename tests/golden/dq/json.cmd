file: --no-files corefiles/leak.core.zst
dq 7ffd79764130 -count 4 --json
