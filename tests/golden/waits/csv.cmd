file: --no-files corefiles/hang.core.zst
exit: 1
waits --format csv -limit 2
