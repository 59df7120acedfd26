file: --no-files corefiles/leak.core.zst
exit: 1
triage --json
