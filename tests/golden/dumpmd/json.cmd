file: --no-files corefiles/leak.core.zst
dumpmd 7f0f7953e830 --json
