file: corefiles/leak.core.zst
referrers --json 7f039d000090
