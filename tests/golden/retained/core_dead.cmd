file: --no-files corefiles/leak.core.zst
exit: 1
retained 7f039d800638 --json
