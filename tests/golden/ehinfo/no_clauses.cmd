file: --no-files corefiles/leak.core.zst
ehinfo 7f0f7953e830
