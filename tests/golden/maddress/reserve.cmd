file: --no-files corefiles/leak.core.zst
maddress -reserve -reserveHeuristic -summary
