file: --no-files corefiles/nativeaot10.core.zst
exit: 1
triage
