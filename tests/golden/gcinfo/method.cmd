file: --no-files corefiles/leak.core.zst
gcinfo 7f0f7953e830
