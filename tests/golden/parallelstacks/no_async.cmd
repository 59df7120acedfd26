file: --no-files corefiles/leak.core.zst
parallelstacks -a
