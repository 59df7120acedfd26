file: --no-files corefiles/leak.core.zst
dumpil 7f0f7953e830
