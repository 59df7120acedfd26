file: --no-files corefiles/growth_later.core.zst
memory -against corefiles/growth.core.zst --json
