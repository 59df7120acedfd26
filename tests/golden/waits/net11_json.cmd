file: --no-files corefiles/hang11.core.zst
exit: 1
waits --json
