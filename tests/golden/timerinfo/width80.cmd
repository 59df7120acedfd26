file: --no-files corefiles/hang.core.zst
timerinfo --width 80
