file: --no-files corefiles/hang.core.zst
dumpcol 7fb0d9813f20
