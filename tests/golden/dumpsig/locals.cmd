file: --no-files corefiles/leak.core.zst
dumpsig 7f0ff8021e08 7f0f79538438
