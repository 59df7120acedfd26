file: --no-files corefiles/leak.core.zst
dumpassembly 562f8f690dc0
