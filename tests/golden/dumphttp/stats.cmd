file: corefiles/hang.core.zst
exit: 2
dumphttp -stats
