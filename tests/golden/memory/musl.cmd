file: --no-files corefiles/musl8.core.zst
memory
