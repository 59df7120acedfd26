file: --no-files corefiles/leak.core.zst
ephtoloh -stat
