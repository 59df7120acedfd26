file: --no-files corefiles/hang.core.zst
ip2md 7fbcb2ca2d24 --symbols corefiles/symbols
