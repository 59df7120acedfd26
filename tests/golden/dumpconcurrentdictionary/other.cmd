file: --no-files corefiles/leak.core.zst
exit: 2
dumpconcurrentdictionary 7f039d0000d0
