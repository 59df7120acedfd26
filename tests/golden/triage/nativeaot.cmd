file: --no-files corefiles/nativeaot10.core.zst
triage
