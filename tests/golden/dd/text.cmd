file: --no-files corefiles/leak.core.zst
dd 7f039d8009b0 -end 7f039d8009e0
