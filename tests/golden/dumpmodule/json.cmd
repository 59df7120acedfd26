file: --no-files corefiles/leak.core.zst
dumpmodule 7f0f79538438 --json
