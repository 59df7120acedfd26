file: --no-files corefiles/leak.core.zst
exit: 2
dq 7ffd79764120 7ffd79764130 -end 7ffd79764130
