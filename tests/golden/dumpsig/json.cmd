file: --no-files corefiles/leak.core.zst
dumpsig 7f0ff80220ea 7f0f79538438 --json
