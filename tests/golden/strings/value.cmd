file: --no-files corefiles/leak.core.zst
strings -value session-002000
