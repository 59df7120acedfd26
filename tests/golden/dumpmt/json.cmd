file: --no-files corefiles/leak.core.zst
dumpmt 7f0f79550c38 --json
