file: --no-files corefiles/growth_later.core.zst
exit: 3
memory -against no-such.core
