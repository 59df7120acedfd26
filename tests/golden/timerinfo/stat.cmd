file: --no-files corefiles/hang.core.zst
timerinfo -stat
