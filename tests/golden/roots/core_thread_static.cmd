file: --no-files corefiles/leak.core.zst
roots -kind thread-static
