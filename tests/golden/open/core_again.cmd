file: --no-files corefiles/leak.core.zst
open --no-files corefiles/leak.core.zst
