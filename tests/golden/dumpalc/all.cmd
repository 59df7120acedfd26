file: --no-files corefiles/leak.core.zst
dumpalc
