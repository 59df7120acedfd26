file: --no-files corefiles/leak.core.zst
dq 7ffd79764120 7ffd79764130
