exit: 2
file: --no-files corefiles/leak.core.zst
maddress -reserveHeuristic
