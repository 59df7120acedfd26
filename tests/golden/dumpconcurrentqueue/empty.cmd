file: --no-files corefiles/hang.core.zst
dumpconcurrentqueue 7fb0d9813990
